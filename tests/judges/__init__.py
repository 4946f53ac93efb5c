"""Do engines that share no code with us find in our tables what we were given?"""
